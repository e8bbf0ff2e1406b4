/** The commands on our pages, by their first words, and the test or script that runs each. */
export const runBy = {};

/** The commands on our pages that no test runs, and why. */
export const notRun = {};

/** The greatest and the default number of plants in a page. */
export const maxPageSize = 1000;
export const defaultPageSize = 100;

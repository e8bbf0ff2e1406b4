/** What people and programs saw of an outage. */
export interface Row {
  outage: string;
  /** The alerts, each with the seconds until the alert fired. */
  alerts: { name: string; seconds: number }[];
  /** The findings of `plant-store doctor` that are new since the start of the outage. */
  doctor: string[];
  /** The number of responses by outcome. */
  clients: Record<string, number>;
  /** The texts of the warnings in the log. */
  log: string[];
}

export const head = `| outage | alerts | doctor | clients | log |
|---|---|---|---|---|`;

/** Formats a row of the Markdown table. */
export function formatRow({ outage, alerts, doctor, clients, log }: Row): string {
  const cells = [
    outage,
    list(alerts.map(({ name, seconds }) => `\`${name}\` after ${seconds} s`)),
    list(doctor),
    list(Object.entries(clients).map(([outcome, count]) => `${count} × ${outcome}`)),
    list(log),
  ];
  return `| ${cells.join(' | ')} |`;
}

const list = (texts: string[]) =>
  texts.map((text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')).join('<br>') || 'none';

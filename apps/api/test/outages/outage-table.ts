/** What Prometheus, `plant-store doctor` and the clients reported during an outage. */
export interface Row {
  outage: string;
  /** The alerts, each with the seconds until the alert fired. */
  alerts: { name: string; seconds: number }[];
  /** The findings of `plant-store doctor` that are new since the start of the outage. */
  doctor: string[];
  /** The number of requests by status and error code, such as `503 50300`. */
  clients: Record<string, number>;
}

export const head = `| outage | alerts, and their delay | new findings of \`doctor\` | responses to clients |
|---|---|---|---|`;

export function formatRow({ outage, alerts, doctor, clients }: Row): string {
  const cells = [
    outage,
    list(alerts.map(({ name, seconds }) => `\`${name}\` ${seconds} s`)),
    list(doctor.map(shortened)),
    Object.entries(clients)
      .map(([outcome, count]) => `${outcome.replace(/^\d+ /, '')}: ${count}`)
      .join(', ')
      .replace('none', 'no response') || 'no response',
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Leaves out the severity, the details in parentheses and the advice. */
const shortened = (finding: string) =>
  finding.replace(/^\w+ (\w+) (.*): .*$/, '`$1`: $2').replaceAll(/ \([^)]*\)/g, '');

const list = (texts: string[]) =>
  texts.map((text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')).join('<br>') || 'none';

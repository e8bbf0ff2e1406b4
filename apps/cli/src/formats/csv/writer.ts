import type { NewPlant } from '@plant-store/schemas';

export const csvHeader = 'id,name,tag\n';

/** Formats a plant as a CSV record. Quotes distinguish an empty tag (`""`) from a missing one. */
export function writeCsv({ id, name, tag }: NewPlant): string {
  return `${id},${field(name)},${tag === undefined ? '' : field(tag)}\n`;
}

function field(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

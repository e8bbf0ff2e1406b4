import type { NewPlant } from '@plant-store/schemas';

export const csvHeader = 'id,name,tag\n';

/** A plant as a CSV record. An empty text is quoted, to be told from no text. */
export function csvLine({ id, name, tag }: NewPlant): string {
  return `${id},${field(name)},${tag === undefined ? '' : field(tag)}\n`;
}

function field(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

import { shorten } from '@plant-store/schemas';

/** The console shows at most this number of characters: a longer word keeps the browser busy for minutes. */
export const maxShown = 5_000;
/** In one line, the console shows fewer characters, because the screen cuts off a long line. */
const maxInLine = 1_000;

interface ClientTextProps {
  text: string;
  /** Whether to show the line breaks of the text. By default, the whole text is in one line. */
  isWhole?: boolean;
}

/**
 * Shows a text that a client of the store chose, such as the name of a plant. Characters that change the
 * direction of the text become visible. Words such as "empty" replace an invisible text.
 */
export function ClientText({ text, isWhole = false }: ClientTextProps) {
  if (text === '') return <em>empty</em>;
  if (text.trim() === '') return <em>only spaces</em>;
  if (invisible.test(text.slice(0, maxInLine))) return <em>only invisible characters</em>;
  const shown = shorten(text, isWhole ? maxShown : maxInLine).replaceAll(hidden, codeOf);
  return <bdi>{isWhole ? shown : shown.replaceAll(/\r\n|[\r\n]/g, ' ↵ ')}</bdi>;
}

/** Shows the name and the tag of a plant in one line. */
export function PlantInLine({ name, tag }: { name: string; tag?: string | undefined }) {
  return (
    <>
      <ClientText text={name.slice(0, 200)} />
      {tag !== undefined && ', tag '}
      {tag !== undefined && <ClientText text={tag.slice(0, 200)} />}
    </>
  );
}

/** Characters that change the direction of a text, and zero-width spaces. */
const hidden = /[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;
const invisible = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

function codeOf(character: string): string {
  return `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The locale of numbers and times. All texts of the console are English. */
const locale = 'en-GB';

export const number = new Intl.NumberFormat(locale);
export const shortTime = new Intl.DateTimeFormat(locale, {
  dateStyle: 'medium',
  timeStyle: 'short',
});
export const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
export const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });

/** Formats a number of plants, such as "1 plant" or "1,000,000+ plants". A `+` marks a count that is not exact. */
export function countOf(count: number, isExact = true): string {
  return `${number.format(count)}${isExact ? '' : '+'} plant${count === 1 ? '' : 's'}`;
}

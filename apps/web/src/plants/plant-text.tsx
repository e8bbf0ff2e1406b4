import { shorten } from '@plant-store/schemas/plain';
import { hrefOf } from '../address/address.ts';
import './plant-text.css';

/** The console shows at most this number of characters: a longer word keeps the browser busy for minutes. */
export const maxShown = 5_000;
/** In one line, the console shows fewer characters, because the screen cuts off a long line. */
const maxInLine = 1_000;

interface PlantTextProps {
  text: string;
  /** Whether to show the line breaks of the text. By default, the whole text is in one line. */
  isWhole?: boolean;
}

/**
 * Shows a name or a tag. Characters that change the direction of the text become visible. A text without
 * visible characters is described in words.
 */
export function PlantText({ text, isWhole = false }: PlantTextProps) {
  if (text === '') return <em>empty</em>;
  if (text.trim() === '') return <em>only spaces</em>;
  if (invisible.test(text)) return <em>only invisible characters</em>;
  const shown = shorten(text, isWhole ? maxShown : maxInLine).replaceAll(direction, codeOf);
  return <bdi>{isWhole ? shown : inOneLine(shown)}</bdi>;
}

const direction = /[\u202a-\u202e\u2066-\u2069]/g;
const invisible = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

function codeOf(character: string): string {
  return `[U+${character.charCodeAt(0).toString(16).toUpperCase()}]`;
}

/** Shows each line break as `↵`. */
export function inOneLine(text: string): string {
  return text.replaceAll(lineBreak, ' ↵ ');
}

const lineBreak = /\r\n|[\r\n]/g;

interface TagLinkProps {
  tag: string;
  /** Whether to show a long tag in full. In the table, long tags are cut off, and the Tab key skips tags. */
  isWhole?: boolean;
}

/** Shows a tag as a link to the plants with this tag. */
export function TagLink({ tag, isWhole = false }: TagLinkProps) {
  return (
    <a
      className="tag"
      data-whole={isWhole || undefined}
      href={hrefOf({ tag })}
      tabIndex={isWhole ? undefined : -1}
    >
      <PlantText text={tag} isWhole={isWhole} />
    </a>
  );
}

/** The locale of numbers and times. All texts of the console are English. */
export const locale = 'en-GB';

export const number = new Intl.NumberFormat(locale);

/** The number of plants in a list. If the number is not exact, the list may have more plants. */
export interface PlantCount {
  readonly count: number;
  readonly isExact: boolean;
}

/** Formats a count, such as "1 plant" or "2,000 rows". A `+` marks a count that is not exact. */
export function countOf(count: number, { noun = 'plant', isExact = true } = {}): string {
  return `${number.format(count)}${isExact ? '' : '+'} ${noun}${count === 1 ? '' : 's'}`;
}

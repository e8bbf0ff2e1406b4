import { hrefOf } from '../address/address.ts';
import './plant-text.css';

/** Shows a name or a tag in one line. An empty text and line breaks are visible. */
export function PlantText({ text }: { text: string }) {
  return text === '' ? <em>empty</em> : <bdi>{inOneLine(text)}</bdi>;
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
      <PlantText text={tag} />
    </a>
  );
}

export const number = new Intl.NumberFormat('en');

/** Formats a count, such as "1 plant" or "2,000 rows". A `+` marks a count that is not exact. */
export function countOf(count: number, { noun = 'plant', isExact = true } = {}): string {
  return `${number.format(count)}${isExact ? '' : '+'} ${noun}${count === 1 ? '' : 's'}`;
}

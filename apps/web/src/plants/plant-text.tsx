import { hrefOf } from '../address/address.ts';
import './plant-text.css';

/** A name or a tag in one line. It also shows an empty text and line breaks. */
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
  /** Whether to show a long tag in full. In the table, it is cut off, and Tab skips it. */
  isWhole?: boolean;
}

/** A tag, which leads to the plants that have it. */
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

const number = new Intl.NumberFormat('en');

/** "1 plant" or "2,000 plants"; with `+` when the count stopped before the end. */
export function countOf(count: number, isExact = true): string {
  const text = `${number.format(count)}${isExact ? '' : '+'}`;
  return `${text} ${count === 1 ? 'plant' : 'plants'}`;
}

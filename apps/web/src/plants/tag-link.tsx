import { hrefOf } from '../address/address.ts';
import './tag-link.css';

interface TagLinkProps {
  tag: string;
  /** Whether to show a long tag as a whole; in the table it is cut, and not reached by Tab. */
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
      <TagText tag={tag} />
    </a>
  );
}

/** The text of a tag. An empty one and line breaks can be seen, too. */
export function TagText({ tag }: { tag: string }) {
  return tag === '' ? <em>empty</em> : <bdi>{tag.replaceAll(/\r\n|[\r\n]/g, ' ⏎ ')}</bdi>;
}

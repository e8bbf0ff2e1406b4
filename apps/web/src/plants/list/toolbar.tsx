import { useIdentity } from '../../store/store.tsx';
import { hrefOf, type PlantFilter } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ClientText } from '../../ui/client-text.tsx';
import { useListState } from '../plant-state.ts';
import styles from './plant-list.module.css';
import { SearchField } from './search-field.tsx';

/** The search, the tag that filters the list, and the actions on the list. */
export function Toolbar({ tag, search }: PlantFilter) {
  const { may } = useIdentity();
  const { change } = useListState();
  return (
    <div className={`row ${styles.toolbar}`}>
      <SearchField search={search} />
      {tag !== undefined && (
        <span className={styles.chip}>
          <span className="one-line">
            Tag: <ClientText text={tag} />
          </span>
          <LinkButton
            kind="quiet"
            icon="close"
            href={hrefOf({ search })}
            aria-label={`Show plants with any tag, not only ${tag.slice(0, 100)}`}
          />
        </span>
      )}
      <div className={styles.actions}>
        {/* On a phone, these actions are behind a button. */}
        <div id="more" popover="auto" className={styles.others}>
          <Button icon="download" onClick={() => change({ dialog: { name: 'export' } })}>
            Export
          </Button>
          {may('plants:create') && (
            <Button icon="upload" onClick={() => change({ dialog: { name: 'import' } })}>
              Import
            </Button>
          )}
        </div>
        <span className={styles.more}>
          <Button icon="more" aria-label="More" popoverTarget="more" />
        </span>
        {may('plants:create') && (
          <Button
            kind="primary"
            icon="add"
            data-compact
            onClick={() => change({ dialog: { name: 'add' } })}
          >
            Add
          </Button>
        )}
      </div>
    </div>
  );
}

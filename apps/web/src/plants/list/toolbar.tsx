import type { Permissions } from '../../store/store.tsx';
import { type Address, hrefOf } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ClientText } from '../../ui/client-text.tsx';
import type { PlantActions } from '../plant-queries.ts';
import { SearchField } from './search-field.tsx';
import styles from './toolbar.module.css';

interface ToolbarProps {
  address: Address;
  may: Permissions;
  actions: PlantActions;
}

/** The search, the tag that filters the list, and the actions on the list. */
export function Toolbar({ address: { tag, search }, may, actions }: ToolbarProps) {
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
          <Button icon="download" onClick={actions.exportList}>
            Export
          </Button>
          {may.create && (
            <Button icon="upload" onClick={actions.importFile}>
              Import
            </Button>
          )}
        </div>
        <span className={styles.more}>
          <Button icon="more" aria-label="More" popoverTarget="more" />
        </span>
        {may.create && (
          <Button kind="primary" icon="add" isCompact onClick={() => actions.add()}>
            Add
          </Button>
        )}
      </div>
    </div>
  );
}

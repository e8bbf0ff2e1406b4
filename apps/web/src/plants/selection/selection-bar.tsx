import type { StoredPlant } from '@plant-store/schemas';
import { useIsMutating } from '@tanstack/react-query';
import { Button } from '../../controls/button.tsx';
import { DeleteButton } from '../delete-button.tsx';
import { countOf } from '../plant-text.tsx';
import { type Selection, without } from '../selected-plants.ts';
import './selection-bar.css';

interface SelectionBarProps extends Selection {
  /** Whether the user can undo the delete for a short time. */
  canUndo: boolean;
  onDeleted(plants: readonly StoredPlant[]): void;
}

const mutationKey = ['delete selected plants'];

/** Shows the buttons that act on the selected plants. */
export function SelectionBar({ plants, canUndo, onChange, onDeleted }: SelectionBarProps) {
  const isDeleting = useIsMutating({ mutationKey }) > 0;
  // When the user changes the list, the selection is empty, but the delete goes on.
  if (plants.size === 0 && !isDeleting) return null;
  return (
    <section className="selection row" aria-label="Selected plants">
      {!isDeleting && <strong role="status">{countOf(plants.size)} selected</strong>}
      <DeleteButton
        plants={plants}
        mutationKey={mutationKey}
        canUndo={canUndo}
        onGone={(ids) => onChange((latest) => without(latest, ids))}
        onEnd={({ deleted }) => deleted.length > 0 && onDeleted(deleted)}
      />
      {!isDeleting && <Button onClick={() => onChange(() => new Map())}>Clear</Button>}
    </section>
  );
}

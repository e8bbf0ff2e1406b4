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
  if (plants.size === 0) return null;
  const count = countOf(plants.size);
  return (
    <section className="selection" aria-label="Selected plants">
      <strong role="status">{isDeleting ? `Deleting: ${count} left` : `${count} selected`}</strong>
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

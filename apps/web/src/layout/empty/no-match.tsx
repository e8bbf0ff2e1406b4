import { go, type PlantFilter } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { FilterText } from '../../plants/filter-text.tsx';

/** Says that no plants match the filter, and describes the filter. */
export function NoMatch(filter: PlantFilter) {
  return (
    <div className="card table-message">
      <p>
        No plants
        <FilterText {...filter} />.
      </p>
      <Button onClick={() => go({ tag: undefined, search: undefined, at: undefined })}>
        Show all plants
      </Button>
    </div>
  );
}

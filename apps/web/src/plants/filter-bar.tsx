import type { FormEvent, ReactNode } from 'react';
import { useEffect, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { TextField } from '../controls/text-field.tsx';
import './filter-bar.css';
import { idProblem, parseId } from './parse-id.ts';
import type { PlantFilter } from './plant-filter.ts';

interface FilterBarProps {
  filter: PlantFilter;
  onChange(filter: PlantFilter): void;
  /** Actions beside the filter. */
  children?: ReactNode;
}

/** Milliseconds after the last key before the plants are filtered. */
const pause = 250;

/** Chooses which plants the table shows: those with a tag, those from an id on. */
export function FilterBar({ filter, onChange, children }: FilterBarProps) {
  const [tag, setTag] = useState('');
  const [id, setId] = useState('');

  useEffect(() => {
    const { tag: _, ...rest } = filter;
    if ((filter.tag ?? '') === tag) return;
    const timer = setTimeout(() => onChange(tag === '' ? rest : { ...rest, tag }), pause);
    return () => clearTimeout(timer);
  }, [tag, filter, onChange]);

  const from = parseId(id);
  const goToId = (event: FormEvent) => {
    event.preventDefault();
    const { from: _, ...rest } = filter;
    if (id === '') onChange(rest);
    else if (typeof from === 'bigint') onChange({ ...rest, from });
  };
  return (
    <div className="filter-bar">
      <search className="filters">
        <TextField
          label="Tag"
          placeholder="Every tag"
          type="search"
          value={tag}
          onChange={setTag}
        />
        <form className="go-to-id" onSubmit={goToId}>
          <TextField
            label="Go to id"
            placeholder="From the first"
            type="search"
            inputMode="numeric"
            value={id}
            onChange={setId}
            error={idProblem(id)}
          />
          <Button type="submit">Go</Button>
        </form>
      </search>
      {children}
    </div>
  );
}

import { IdFromText } from '@plant-store/schemas';
import type { FormEvent, ReactNode } from 'react';
import { useEffect, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { TextField } from '../controls/text-field.tsx';
import './filter-bar.css';
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

  const isEmpty = id.trim() === '';
  const { data: from, error } = IdFromText.safeParse(id.trim());
  const goToId = (event: FormEvent) => {
    event.preventDefault();
    const { from: _, ...rest } = filter;
    if (isEmpty) onChange(rest);
    else if (from !== undefined) onChange({ ...rest, from });
  };
  return (
    <div className="filter-bar">
      <search className="filters">
        <TextField label="Tag" placeholder="Any tag" type="search" value={tag} onChange={setTag} />
        <form className="go-to-id" onSubmit={goToId}>
          <TextField
            label="Go to id"
            placeholder="Any id"
            type="search"
            inputMode="numeric"
            value={id}
            onChange={setId}
            error={isEmpty ? undefined : error?.issues[0]?.message}
          />
          <Button type="submit">Go</Button>
        </form>
      </search>
      {children}
    </div>
  );
}

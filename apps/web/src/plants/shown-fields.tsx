import type { StoredPlant } from '@plant-store/schemas';
import { Fragment, type ReactNode } from 'react';
import { CopyButton } from '../controls/button.tsx';
import './plant-facts.css';
import { locale, maxShown, PlantText, TagLink } from './plant-text.tsx';

interface ShownField<Value> {
  readonly label: string;
  /** The text below the field in the form. */
  readonly hint?: string | undefined;
  /**
   * The width of the column in the table, as CSS. The table leaves out a field without a width. A column
   * has the same width in all rows, so that no column moves while the user scrolls.
   */
  readonly width?: string;
  /** Shows the value in the table. */
  cell(value: Value): ReactNode;
  /** Shows the value in the list of facts. By default, the list shows the value as the table does. */
  fact?(value: Value): ReactNode;
}

const shortTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const longTime = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'medium' });

/** Says how the console shows each property of a plant. A missing property would be a type error. */
export const shownFields: {
  readonly [Field in keyof StoredPlant]-?: ShownField<NonNullable<StoredPlant[Field]>>;
} = {
  name: {
    label: 'Name',
    width: 'minmax(11rem, 1fr)',
    cell: (name) => <PlantText text={name} />,
    fact: (name) => (
      <>
        <PlantText text={name} isWhole />
        {name.length > maxShown && <CopyButton what="name" text={name} />}
      </>
    ),
  },
  tag: {
    label: 'Tag',
    hint: 'Optional: the type of the plant',
    width: 'minmax(5rem, 16rem)',
    cell: (tag) => <TagLink tag={tag} />,
    fact: (tag) => <TagLink tag={tag} isWhole />,
  },
  createdAt: {
    label: 'Created',
    width: '9rem',
    cell: (time) => <time dateTime={time.toISOString()}>{shortTime.format(time)}</time>,
    fact: (time) => (
      <>
        <time dateTime={time.toISOString()}>{longTime.format(time)}</time>
        <span className="plant-facts-utc help">{time.toISOString()}</span>
      </>
    ),
  },
  id: {
    label: 'Id',
    width: '10rem',
    cell: (id) => <span>{String(id)}</span>,
    fact: (id) => (
      <>
        <span className="plant-facts-id">{String(id)}</span>
        <CopyButton what="id" text={String(id)} />
      </>
    ),
  },
};

/** The properties of a plant, in the order in which the console shows them. */
// The cast is safe, because `shownFields` has no other keys than the properties of a plant.
const fieldNames = Object.keys(shownFields) as (keyof StoredPlant)[];

export const tableFields = fieldNames.filter((field) => shownFields[field].width !== undefined);

/** Shows a property in the table or in the list of facts. Returns undefined for a missing property. */
export function showField(
  plant: StoredPlant,
  field: keyof StoredPlant,
  place: 'cell' | 'fact',
): ReactNode {
  const value = plant[field];
  const { cell, fact = cell }: ShownField<never> = shownFields[field];
  const show = place === 'cell' ? cell : fact;
  // The cast is safe, because `show` and `value` belong to the same field.
  return value === undefined ? undefined : show(value as never);
}

export function PlantFacts({ plant }: { plant: StoredPlant }) {
  return (
    <dl className="plant-facts">
      {fieldNames.map((field) => (
        <Fragment key={field}>
          <dt>{shownFields[field].label}</dt>
          <dd>{showField(plant, field, 'fact') ?? <em>none</em>}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

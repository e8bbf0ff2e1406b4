import { type Column, decimal } from '../report/format-table.ts';
import { type Figures, medianOf, type Result, valuesOf } from './run-plan.ts';

type FigureColumn<F extends Figures> = Column<Result<F>>;

/** A column with the median of a figure. */
export function figureColumn<F extends Figures>(header: string, name: keyof F, digits = 0) {
  const column: FigureColumn<F> = [header, (result) => decimal(medianOf(result, name), digits)];
  return column;
}

/** A column with the smallest and the largest value of a figure. */
export function rangeColumn<F extends Figures>(name: keyof F, digits = 0): FigureColumn<F> {
  return [
    '(min–max)',
    (result) => {
      const values = valuesOf(result, name);
      return `(${decimal(Math.min(...values), digits)}–${decimal(Math.max(...values), digits)})`;
    },
  ];
}

/** A column with the ratio of a figure's median to the median of the first result. */
export function ratioColumn<F extends Figures>(
  header: string,
  name: keyof F,
  [base]: readonly Result<F>[],
): FigureColumn<F> {
  return [header, (result) => decimal(medianOf(result, name) / medianOf(base, name), 2)];
}

import type { Seen } from '@plant-store/test-setup';
import type { Reporter, TestModule } from 'vitest/node';
import { missingPlants, type Row } from './stored-plants.ts';

/** What the clients measured during a fault. */
interface FaultRow {
  /** The longest time between two responses with 200, in milliseconds. */
  longestGap: number;
  /** The time of the slowest response, in milliseconds. */
  slowest: number;
  acknowledged: number;
  /** The number of acknowledged plants that are missing or different in the database. */
  missing: number;
}

declare module 'vitest' {
  interface TaskMeta {
    fault?: FaultRow;
  }
}

export function faultRow(seen: Seen, rows: readonly Row[]): FaultRow {
  const { longestGap, slowest, acknowledged } = seen;
  const { length: missing } = missingPlants(acknowledged, rows);
  return { longestGap, slowest, acknowledged: acknowledged.length, missing };
}

/** Prints a Markdown table of all faults after the tests. */
export default class FaultTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules
      .flatMap(({ children }) => [...children.allTests()])
      .flatMap((test) => {
        const { fault } = test.meta();
        return fault ? [rowOf(test.name, fault)] : [];
      });
    if (rows.length === 0) return;
    const head = '| fault | s without a 200 | slowest response, s | acknowledged | missing |';
    console.log(['', head, '|---|--:|--:|--:|--:|', ...rows, ''].join('\n'));
  }
}

function rowOf(name: string, fault: FaultRow): string {
  const { longestGap, slowest, acknowledged, missing } = fault;
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
  const cells = [name, seconds(longestGap), seconds(slowest), acknowledged, missing];
  return `| ${cells.join(' | ')} |`;
}

/** Which plants the table shows. */
export interface PlantFilter {
  /** Only plants with exactly this tag. */
  readonly tag?: string;
  /** Only plants from this id on. */
  readonly from?: bigint;
}

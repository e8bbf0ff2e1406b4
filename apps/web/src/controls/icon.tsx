/** Paths in a square of 24. */
const paths = {
  add: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  requests: 'M8 8l-4 4 4 4M16 8l4 4-4 4M13.5 5l-3 14',
  leave: 'M14 4h6v16h-6M3 12h12M11 8l4 4-4 4',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
} as const;

/** A picture beside a text with the same meaning. */
export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg
      aria-hidden="true"
      width="18"
      height="18"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}

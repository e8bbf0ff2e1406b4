import icon from './icon.svg';

export function Logo() {
  return <img className="logo" src={icon} alt="" width="28" height="28" />;
}

/** SVG paths in a square of 24 units. */
const paths = {
  add: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  select: 'M4 12l5 5L20 6',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  requests: 'M8 8l-4 4 4 4M16 8l4 4-4 4M13.5 5l-3 14',
  first: 'M5 5h14M12 20V9M7 14l5-5 5 5',
  last: 'M5 19h14M12 4v11M7 10l5 5 5-5',
  find: 'M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14M16 16l5 5',
  refresh: 'M20 5v5h-5M4 19v-5h5M19 10a7.5 7.5 0 0 0-13.5-2.5M5 14a7.5 7.5 0 0 0 13.5 2.5',
  download: 'M12 4v12M7 11l5 5 5-5M4 16v4h16v-4',
  docs: 'M4 5h6a2 2 0 0 1 2 2v13a2 2 0 0 0-2-2H4zM20 5h-6a2 2 0 0 0-2 2v13a2 2 0 0 1 2-2h6z',
  previous: 'M15 5l-7 7 7 7',
  next: 'M9 5l7 7-7 7',
  tokens: 'M15 4a5 5 0 1 0 0 10a5 5 0 0 0 0-10M11.5 12.5 4 20M7 17l3 3',
  leave: 'M14 4h6v16h-6M3 12h12M11 8l4 4-4 4',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
} as const;

/** An icon beside a text with the same meaning. */
export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg
      aria-hidden="true"
      width="1.125rem"
      height="1.125rem"
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

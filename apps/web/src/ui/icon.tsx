import icon from './icon.svg';

export function Logo() {
  return <img src={icon} alt="" width="28" height="28" />;
}

const paths = {
  add: 'M12 5v14M5 12h14',
  check: 'M5 13l4 4L19 7',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  first: 'M17 5l-7 7 7 7M6 5v14',
  previous: 'M15 5l-7 7 7 7',
  next: 'M9 5l7 7-7 7',
  find: 'M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14M16 16l5 5',
  download: 'M12 4v12M7 11l5 5 5-5M4 16v4h16v-4',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  tokens: 'M15 4a5 5 0 1 0 0 10a5 5 0 0 0 0-10M11.5 12.5 4 20M7 17l3 3',
  leave: 'M14 4h6v16h-6M3 12h12M11 8l4 4-4 4',
  edit: 'M4 20l1-5L16 4l4 4L9 19zM13 7l4 4',
  link: 'M10 14l4-4M8 12l-2 2a3 3 0 0 0 4 4l2-2M16 12l2-2a3 3 0 0 0-4-4l-2 2',
  bin: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
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

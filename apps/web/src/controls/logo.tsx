import icon from './icon.svg';

/** The sign of the plant store. */
export function Logo() {
  return <img className="logo" src={icon} alt="" width="28" height="28" />;
}

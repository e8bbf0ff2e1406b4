import { explainError } from './explain-error.ts';

interface ErrorAlertProps {
  /** The error of a request. Without an error, there is no alert. */
  error: unknown;
  /** The first sentence of the alert, such as "The file is not saved." */
  start?: string;
}

export function ErrorAlert({ error, start }: ErrorAlertProps) {
  if (!error) return null;
  return (
    <p className="alert" role="alert">
      {start && `${start} `}
      {explainError(error)}
    </p>
  );
}

import { Fragment } from 'react';
import { CopyButton } from '../controls/button.tsx';
import { useSharedState } from '../controls/shared-state.ts';
import { baseUrl } from '../store/trpc.ts';
import { asCurl } from './as-curl.ts';
import { asTypeScript } from './as-typescript.ts';
import type { RequestHistory, StoreRequest } from './request-history.ts';
import './request-list.css';

const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** Shows the requests that the console made, with buttons that copy each request. */
export function RequestList({ history }: { history: RequestHistory }) {
  const requests = useSharedState(history);
  return (
    <>
      <p className="request-help">
        You can repeat each request of this page elsewhere. Set <code>PLANT_STORE_TOKEN</code> to
        your access token first.
      </p>
      <ol className="requests">
        {requests.map((request) => (
          <li key={request.number}>
            <Request request={request} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Request({ request }: { request: StoreRequest }) {
  return (
    <details className="request">
      <summary>
        <strong>{request.procedure}</strong>
        <span className="request-input one-line">
          <Input input={request.input} />
        </span>
        <time dateTime={request.at.toISOString()}>{time.format(request.at)}</time>
      </summary>
      <Code what="curl" text={asCurl(request, baseUrl())} />
      <Code what="TypeScript" text={asTypeScript(request, baseUrl())} />
    </details>
  );
}

/** Shows a text with a button that copies the text. */
export function Code({ what, text }: { what: string; text: string }) {
  return (
    <figure className="request-code">
      <pre>{text}</pre>
      <figcaption>
        <CopyButton what={what} text={text} />
      </figcaption>
    </figure>
  );
}

function Input({ input }: Pick<StoreRequest, 'input'>) {
  return Object.entries(input).map(([key, value], i) => (
    <Fragment key={key}>
      {i > 0 && ', '}
      {key} <bdi>{String(value)}</bdi>
    </Fragment>
  ));
}

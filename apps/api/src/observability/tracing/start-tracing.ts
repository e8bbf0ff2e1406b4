import type { Tracing } from './end-span.ts';

/**
 * Starts to trace when the environment variables of OpenTelemetry ask for traces.
 *
 * @throws an Error that says which variable to change, or which packages to install
 */
export async function startTracing(variables: NodeJS.ProcessEnv): Promise<Tracing | undefined> {
  const endpoint =
    variables['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || variables['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const exporter = variables['OTEL_TRACES_EXPORTER'] || 'otlp';
  const isDisabled = variables['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  if (!endpoint || isDisabled || exporter === 'none') return undefined;
  if (exporter !== 'otlp') throw new Error('OTEL_TRACES_EXPORTER is not valid: set otlp or none');
  const isHttp = URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol);
  if (!isHttp) throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT is not valid: set an http(s) URL');
  return import('./spans.ts')
    .then(({ createTracing }) => createTracing(variables))
    .catch(explainMissingPackage);
}

function explainMissingPackage(cause: NodeJS.ErrnoException): never {
  const isMissing = cause.code === 'ERR_MODULE_NOT_FOUND';
  if (!isMissing || !cause.message.includes("'@opentelemetry/")) throw cause;
  const remedy = 'run `npm install --include=optional`, or unset OTEL_EXPORTER_OTLP_ENDPOINT';
  throw new Error(`traces need the optional packages @opentelemetry/*: ${remedy}`, { cause });
}

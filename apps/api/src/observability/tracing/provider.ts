import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

/** The provider of spans, and a function that reports the export errors to a listener. */
export interface Provider {
  readonly provider: TracerProvider;
  onError(listener: () => void): void;
}

/** The most links of a statement's span: the most creates in one statement. */
const maxLinks = 2_048;

/**
 * Makes a provider from the environment variables of OpenTelemetry. The exporter and the resource read
 * further variables themselves.
 *
 * @throws an Error that says which variable to change
 */
export async function createProvider(variables: NodeJS.ProcessEnv): Promise<Provider> {
  const sampler = samplerOf(variables);
  const exporter = await createExporter(variables);
  let onError = () => {};
  const watched: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) onError();
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'plant-store' }))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
  const setting = (name: string) => {
    const value = Number(variables[`OTEL_BSP_${name}`]);
    return value > 0 ? value : undefined;
  };
  const processor = new BatchSpanProcessor({
    exporter: watched,
    ...withoutUndefined({
      scheduledDelayMillis: setting('SCHEDULE_DELAY'),
      maxQueueSize: setting('MAX_QUEUE_SIZE'),
      maxExportBatchSize: setting('MAX_EXPORT_BATCH_SIZE'),
      exportTimeoutMillis: setting('EXPORT_TIMEOUT'),
    }),
  });
  return {
    provider: new TracerProvider({
      sampler,
      resource,
      spanLimits: { linkCountLimit: maxLinks },
      spanProcessors: [processor],
    }),
    onError(listener) {
      onError = listener;
    },
  };
}

async function createExporter(variables: NodeJS.ProcessEnv): Promise<SpanExporter> {
  const protocol =
    variables['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ||
    variables['OTEL_EXPORTER_OTLP_PROTOCOL'] ||
    'http/protobuf';
  if (protocol === 'http/json') {
    return new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter();
  }
  if (protocol === 'http/protobuf') {
    return new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter();
  }
  throw new Error('OTEL_EXPORTER_OTLP_PROTOCOL is not valid: set http/protobuf or http/json');
}

function samplerOf(variables: NodeJS.ProcessEnv): Sampler {
  const name = variables['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const ratio = Number(variables['OTEL_TRACES_SAMPLER_ARG'] || 1);
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new Error('OTEL_TRACES_SAMPLER_ARG is not valid: set a number from 0 to 1');
  }
  const roots = new Map<string, Sampler>([
    ['always_on', new AlwaysOnSampler()],
    ['always_off', new AlwaysOffSampler()],
    ['traceidratio', new TraceIdRatioBasedSampler(ratio)],
  ]);
  const root = roots.get(name.replace(/^parentbased_/, ''));
  if (root) return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
  const names = [...roots.keys()].flatMap((each) => [each, `parentbased_${each}`]);
  throw new Error(`OTEL_TRACES_SAMPLER is not valid: set one of ${names.join(', ')}`);
}

function withoutUndefined(options: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

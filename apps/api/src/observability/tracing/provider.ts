import {
  defaultResource,
  detectResources,
  type Resource,
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
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

/** The most links of a statement's span. One statement contains at most this number of creates. */
const linkCountLimit = 2_048;

/**
 * Makes a provider of spans from the environment variables of OpenTelemetry. The exporter and the detectors
 * read further variables.
 *
 * @param onError is called when the receiver has not taken spans
 * @throws an Error that says which variable to change
 */
export async function createProvider(
  variables: NodeJS.ProcessEnv,
  onError: () => void,
): Promise<TracerProvider> {
  const sampler = samplerOf(variables);
  const exporter = await createExporter(variables);
  const numberOf = (name: string) => Number(variables[`OTEL_BSP_${name}`]);
  const processor = new BatchSpanProcessor({
    exporter: {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          if (result.error) onError();
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
    },
    scheduledDelayMillis: numberOf('SCHEDULE_DELAY') || 5_000,
    exportTimeoutMillis: numberOf('EXPORT_TIMEOUT') || 30_000,
    maxQueueSize: numberOf('MAX_QUEUE_SIZE') || 2_048,
    maxExportBatchSize: numberOf('MAX_EXPORT_BATCH_SIZE') || 512,
  });
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'plant-store' }))
    .merge(detectAttributes(variables))
    .merge(detectResources({ detectors: [serviceNameEnvDetector] }));
  return new TracerProvider({
    sampler,
    resource,
    spanLimits: { linkCountLimit },
    spanProcessors: [processor],
  });
}

/** The detector ignores all attributes, without an error, when one attribute is not valid. */
function detectAttributes(variables: NodeJS.ProcessEnv): Resource {
  const resource = detectResources({ detectors: [resourceAttributesEnvDetector] });
  const isEmpty = !/[^\s,]/.test(variables['OTEL_RESOURCE_ATTRIBUTES'] ?? '');
  if (isEmpty || Object.keys(resource.attributes).length > 0) return resource;
  throw new Error(
    'OTEL_RESOURCE_ATTRIBUTES is not valid: set name=value pairs, separated by commas',
  );
}

async function createExporter(variables: NodeJS.ProcessEnv) {
  const general = variables['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';
  const protocol = variables['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || general;
  if (protocol !== 'http/json' && protocol !== 'http/protobuf') {
    throw new Error('OTEL_EXPORTER_OTLP_PROTOCOL is not valid: set http/protobuf or http/json');
  }
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return new OTLPTraceExporter();
}

function samplerOf(variables: NodeJS.ProcessEnv): Sampler {
  const name = variables['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const ratio = Number(variables['OTEL_TRACES_SAMPLER_ARG'] || 1);
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new Error('OTEL_TRACES_SAMPLER_ARG is not valid: set a number from 0 to 1');
  }
  const root = new Map<string, Sampler>([
    ['always_on', new AlwaysOnSampler()],
    ['always_off', new AlwaysOffSampler()],
    ['traceidratio', new TraceIdRatioBasedSampler(ratio)],
  ]).get(name.replace(/^parentbased_/, ''));
  if (!root) throw new Error('OTEL_TRACES_SAMPLER is not valid: set parentbased_traceidratio');
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

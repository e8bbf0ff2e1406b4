/** A stage of a Dockerfile. Each stage begins with FROM. */
export interface Stage {
  name: string;
  /** The COPY and RUN instructions, in order. */
  steps: { instruction: string; argument: string }[];
  env: Record<string, string>;
  user: string | undefined;
  command: string[];
  healthCheck: string[];
}

/** Reads the instructions of our Dockerfile. Throws an error for any other instruction. */
export function readDockerfile(text: string): Stage[] {
  const stages: Stage[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, instruction = '', argument = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    const [, image = '', name = ''] = /^(\S+)(?: AS (\w+))?$/.exec(argument) ?? [];
    if (instruction === 'FROM' && image === 'node:24-slim') {
      stages.push({ name, steps: [], env: {}, user: undefined, command: [], healthCheck: [] });
      continue;
    }
    const stage = stages.at(-1);
    if (!stage) throw new Error(`no stage before ${line}`);
    if (instruction === 'COPY' || instruction === 'RUN')
      stage.steps.push({ instruction, argument });
    else if (instruction === 'ENV') Object.assign(stage.env, readAssignments(argument));
    else if (instruction === 'USER') stage.user = argument;
    else if (instruction === 'CMD') stage.command = JSON.parse(argument);
    else if (instruction === 'HEALTHCHECK')
      stage.healthCheck = JSON.parse(argument.slice(argument.indexOf('[')));
    else if (line !== 'WORKDIR /plant-store' && instruction !== 'EXPOSE')
      throw new Error(`unknown: ${line}`);
  }
  return stages;
}

const readAssignments = (text: string) =>
  Object.fromEntries(text.split(' ').map((each) => each.split('=', 2)));

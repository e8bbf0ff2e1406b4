/** The instructions of our Dockerfile, which has one build stage. */
export interface Dockerfile {
  run: string;
  args: Record<string, string>;
  env: Record<string, string>;
  user: string;
  command: string[];
  healthCheck: string[];
}

/** Reads the instructions of our Dockerfile. Throws an error for an unknown instruction. */
export function readDockerfile(text: string): Dockerfile {
  const image = { run: '', args: {}, env: {}, user: '', command: [], healthCheck: [] };
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, instruction = '', argument = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (instruction === 'RUN') image.run = argument;
    else if (instruction === 'ARG') Object.assign(image.args, readAssignments(argument));
    else if (instruction === 'ENV') Object.assign(image.env, readAssignments(argument));
    else if (instruction === 'USER') image.user = argument;
    else if (instruction === 'CMD') image.command = JSON.parse(argument);
    else if (instruction === 'HEALTHCHECK')
      image.healthCheck = JSON.parse(argument.slice(argument.indexOf('[')));
    else if (!known.includes(line)) throw new Error(`unknown: ${line}`);
  }
  return image;
}

const known = ['FROM node:24-slim', 'WORKDIR /plant-store', 'EXPOSE 3000 9464'];

const readAssignments = (text: string) =>
  Object.fromEntries(text.split(' ').map((each) => each.split(/=(.*)/, 2)));

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** An element of a web page. Assistive technology reads the role and the name of an element. */
interface Element {
  role: string;
  name: string;
}

/** The command that starts Firefox (`firefox-esr` on Debian), or undefined when Firefox is not installed. */
export const firefox = ['firefox-esr', 'firefox'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

/**
 * Starts a Firefox without a window, and controls a page by WebDriver BiDi. Playwright cannot control a
 * distribution's Firefox, because Playwright sends commands that this Firefox does not know.
 */
export async function openFirefox(program: string) {
  const profile = await mkdtemp(join(tmpdir(), 'plant-store-firefox-'));
  const child = spawn(program, ['--headless', '--remote-debugging-port=0', '--profile', profile], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  const exit = once(child, 'exit');
  const send = await connect(`${await addressOf(child.stderr)}/session`);
  await send('session.new', { capabilities: {} });
  const { contexts: [{ context } = {}] = [] } = await send('browsingContext.getTree', {});

  const find = async (locator: object): Promise<{ sharedId: string }> => {
    for (;;) {
      const { nodes: [node] = [] } = await send('browsingContext.locateNodes', {
        context,
        locator,
      });
      if (node) return node;
    }
  };
  const click = async (value: Element) => {
    const element = await find({ type: 'accessibility', value });
    const origin = { type: 'element', element: { sharedId: element.sharedId } };
    const [move, down, up] = [
      { type: 'pointerMove', x: 0, y: 0, origin },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    const actions = [{ type: 'pointer', id: 'mouse', actions: [move, down, up] }];
    await send('input.performActions', { context, actions });
  };
  return {
    click,
    async open(url: string) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    /** Waits for an element, and replaces the content of the element by a text. */
    async type(element: Element, text: string) {
      await click(element);
      const selectAll = [
        { type: 'keyDown', value: control },
        ...pressed('a'),
        { type: 'keyUp', value: control },
      ];
      const actions = [{ type: 'key', id: 'keys', actions: [...selectAll, ...pressed(text)] }];
      await send('input.performActions', { context, actions });
    },
    /** Waits until the page shows a text. */
    async waitForText(text: string) {
      await find({ type: 'xpath', value: `//*[contains(., ${JSON.stringify(text)})]` });
    },
    async close() {
      child.kill();
      await exit;
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** WebDriver's code for the key Ctrl. */
const control = '\uE009';

const pressed = (text: string) =>
  [...text].flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })));

async function addressOf(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [, address] = /WebDriver BiDi listening on (\S+)/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('Firefox exited before it listened');
}

/** Connects to a browser. Returns a function that sends a command, and resolves with the command's result. */
async function connect(url: string) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  let lastId = 0;
  return (method: string, params: object): Promise<Result> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      socket.addEventListener('message', function receive({ data }) {
        const response = JSON.parse(data);
        if (response.id !== id) return;
        socket.removeEventListener('message', receive);
        if (response.type === 'success') resolve(response.result);
        else reject(new Error(`${method}: ${response.message}`));
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
}

/** The fields that this file reads from the results of commands. */
interface Result {
  contexts?: { context: string }[];
  nodes?: { sharedId: string }[];
}

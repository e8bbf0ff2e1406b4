import { hasScript } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { terminalLine } from '../../src/observability/terminal-line.ts';
import { inTerminal, serve } from '../fixtures/program.ts';

const head = '"time":1795346248175,"pid":1,"hostname":"h"';
const time = /^\d\d:\d\d:\d\d /;

it.each([
  [
    `{"level":30,${head},"reqId":"r","method":"GET","path":"/plants","status":200,"ip":"::1","responseTime":3.1,"msg":"request"}\n`,
    'GET /plants 200 3.1 ms\n',
  ],
  [
    `{"level":30,${head},"method":"POST","path":"/plants","status":400,"errorCode":40000,"responseTime":1,"msg":"request"}\n`,
    'POST /plants 400 (error 40000) 1 ms\n',
  ],
  [`{"level":30,${head},"msg":"stopping"}\n`, 'stopping\n'],
  [
    `{"level":40,${head},"errorCode":50300,"err":{"message":"down"},"msg":"it is down"}\n`,
    "WARNING it is down { errorCode: 50300, err: { message: 'down' } }\n",
  ],
])('makes a readable line of %s', (line, text) => {
  expect(terminalLine(line)).toMatch(time);
  expect(terminalLine(line).replace(time, '')).toBe(text);
});

it('escapes characters that would control the terminal', () => {
  const path = '/\u001b[2J\u009b2J\u202e';
  const line = JSON.stringify({ level: 30, time: 0, path, method: 'GET', msg: 'request' });
  expect(terminalLine(line)).toContain('GET /\\u{1b}[2J\\u{9b}2J\\u{202e} ');
});

it.runIf(hasScript)(
  'writes readable lines in place of JSON when the output is a terminal',
  async () => {
    const server = await serve({ PLANT_STORE_TOKN: 'x' }, inTerminal);
    await fetch(`${server.url}/openapi.json`);
    await server.printed(/GET \/openapi.json/);
    expect(server.output().replaceAll('\r', '')).toMatch(
      /^[\d:]+ WARNING PLANT_STORE_TOKN .*\n[\d:]+ Server listening at \S+\n\nThe plant store is open\.\n[^{]+curl .*\n\n[\d:]+ GET \/openapi.json 200 \S+ ms\n$/,
    );
  },
);

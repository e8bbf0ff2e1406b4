import { describe, expect, it } from 'vitest';
import { expectError } from '../../fixtures/expect-error.ts';
import { shareServer } from '../../fixtures/running-server.ts';
import { post, surfaces } from '../../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';

const server = shareServer();

describe.each(surfaces)('over $name', (surface) => {
  it('responds with 400 when the body is not JSON', async () => {
    for (const json of ['{', '{"id":1,}', 'undefined', "{'id':1}", '[1e1,'.padEnd(19_000, '[')]) {
      expectError(await surface.send(server, json), 400, 40000);
    }
  });

  it('responds with 413 to a body with 64,000 values, and with 200 to a text with 100,000 commas', async () => {
    const plantWith = (json: string) => `{"id":7,"name":"${','.repeat(100_000)}\\"[{","x":${json}}`;
    const numbers = (count: number) => `[${Array(count).fill(1)}]`;
    expect((await surface.send(server, plantWith(numbers(63_000)))).status).toBe(200);
    for (const each of ['1', '[]', '{}']) {
      const json = plantWith(`[${Array(64_000).fill(each)}]`);
      expectError(await surface.send(server, json), 413, 41300);
    }
  });

  it('treats a long number inside a name as text', async () => {
    const plantWith = (name: string, number: string) =>
      `{"id":8,"name":"${name}","x":[${number}${',1'.repeat(30_000)}]}`;
    const response = await surface.send(server, plantWith('Lot 2026010100000001', '1'));
    expect(response.status).toBe(200);
    expectError(await surface.send(server, plantWith('Lot', '2026010100000001')), 413, 41300);
  });

  it('responds with 400 instead of 413 to a list of 10,000 plants', async () => {
    const plants = Array.from({ length: 10_000 }, (_, id) => `{"id":${id},"name":"x","tag":"y"}`);
    const path = surface.name === 'tRPC' ? '/trpc/createPlants' : '/plants/batch';
    const json = `{"plants":[${plants}]}`;
    const types = plants.map((_, id) => `"plants.${id}.id":["bigint"]`);
    const meta = `"meta":{"values":{${types}}}`;
    const body = surface.name === 'tRPC' ? `{"json":${json},${meta}}` : json;
    const response = await post(server, path, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('"error":40001,');
  });

  it('responds with 400 when the body is not UTF-8', async () => {
    const response = await post(server, surface.path, new Uint8Array([0x22, 0xff, 0xfe, 0x22]));
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text).toContain('"error":40000,');
    expect(text).toContain('the body is not JSON (it is not UTF-8)');
  });

  it.each([
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"; v=1',
    'application/json;',
  ])('accepts the content type %s', async (type) => {
    expect((await surface.send(server, plant, { 'content-type': type })).status).toBe(200);
  });

  it.each([
    ...['text/plain', 'application/jsonl', 'application/json; charset=latin1', '*/*'],
    ...['multipart/form-data', 'application/x-www-form-urlencoded'],
  ])('responds with 415 to the content type %s', async (type) => {
    expectError(await surface.send(server, plant, { 'content-type': type }), 415, 41500);
  });

  it('responds with 415 and an explanation to a list of content types', async () => {
    const type = 'application/json, application/json';
    const { body } = await surface.send(server, plant, { 'content-type': type });
    const message = 'Content-Type has several media types: send application/json alone';
    expect(body).toEqual({ error: 41500, message });
  });

  it('responds with 415 when there is no content type', async () => {
    const authorization = `Bearer ${server.token}`;
    const body = new Blob([plant]); // The Blob has no type, so fetch adds no Content-Type.
    const init = { method: 'POST', headers: { authorization }, body };
    const response = await fetch(server.url + surface.path, init);
    expect(response.status).toBe(415);
    expect(await response.text()).toContain('"error":41500,');
  });
});

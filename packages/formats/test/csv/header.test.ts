import { plantColumns } from '@plant-store/schemas/plain';
import { expect, it } from 'vitest';
import { readRows } from '../fixtures/read-rows.ts';

const row = (line: number, tag?: string) => ({ line, plant: { id: 1n, name: 'x', tag } });

it.each([
  ['ID,Name,Tag\n1,x,y\n', row(2, 'y'), 1],
  [' TAG ,\tName,"iD "\ny,x,1\n', row(2, 'y'), 1],
  ['name,id\nx,1\n', row(2), 1],
  ['id;name\n1;x\n', row(2), 1],
  ['id\tname\n1\tx\n', row(2), 1],
  ['id|name\n1|x\n', row(2), 1],
  ['\n,;| \t\nid,name\n1,x\n', row(4), 1],
  ['sep=;\nid;name\n1;x\n', row(3), 2],
  ['SEP=^\r\nid^name\r\n1^x\r\n', row(3), 2],
  ['"sep=^"\n\nid^name\n1^x\n', row(4), 2],
  ['\nsep=;\nid,name\n1,x\n', row(4), 2],
  ['id,"a\nb",name\n1,,x\n', row(3), 2],
  ['id,name,,,\n1,x,,,\n', row(2), 1],
  ['id,name,na"me\nid,name\n1,x\n', undefined, 0],
])('finds the header of %j', async (content, plant, header) => {
  if (!plant) return await expect(readRows(content, 'csv')).rejects.toThrow('the CSV header must');
  const { rows, counts } = await readRows(content, 'csv');
  expect(rows).toEqual([plant]);
  expect(counts.header).toBe(header);
  expect(counts.header + counts.blank + 1).toBe(counts.lines);
});

it.each([
  ['id,name,Tags,height,\n', 'these columns are not used: "Tags", "height"'],
  ['line,reason,id,name,note\n', 'these columns are not used: "note"'],
  ['line,id,name\n', 'these columns are not used: "line"'],
  ['reason,line,id,name\n', 'these columns are not used: "reason", "line"'],
  ['line,x,id,name\n', 'these columns are not used: "line", "x"'],
  ['x,reason,id,name\n', 'these columns are not used: "x", "reason"'],
])('warns of the unused columns in %j', async (content, warning) => {
  expect((await readRows(content, 'csv')).warnings).toEqual([warning]);
});

it.each(['id,name,tag\n', 'line,reason,id,name\n', 'id,name,,\n', 'Id,NAME,tAg\n'])(
  'does not warn of unused columns for %j',
  async (content) => {
    expect((await readRows(content, 'csv')).warnings).toEqual([]);
  },
);

const list = new Intl.ListFormat('en');
const columns = Object.values(plantColumns).filter(({ name }) => name !== 'created_at');
const optional = columns.filter(({ isOptional }) => isOptional).map(({ name }) => name);
const required = columns.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
const line = columns.map(({ name }) => name).join();
const needed =
  `the CSV header must have the columns ${list.format(required)} ` +
  `(${list.format(optional)} ${optional.length === 1 ? 'is' : 'are'} optional), but it has `;
const rename = 'rename the columns, or name the delimiter';

it.each([
  ['id,tag\n1,x\n', `${needed}"id", "tag": ${rename}`],
  ['name;tag\n1;x\n', `${needed}"name", "tag": ${rename}`],
  [
    'a,b,c,d,e,f,g,h,i,j\n',
    `${needed}${[...'abcdefghij'].map((c) => `"${c}"`).join(', ')}: ${rename}`,
  ],
  [
    'a,b,c,d,e,f,g,h,i,j,k\n',
    `${needed}${[...'abcdefghij'].map((c) => `"${c}"`).join(', ')}, …: ${rename}`,
  ],
  ['id:name\n1:x\n', `${needed}"id:name": ${rename}`],
  [
    '1,Hoya\n',
    `${needed}"1", "Hoya": if the file starts with a row, insert the line ${line} before it`,
  ],
  [
    'Hoya,-12\n',
    `${needed}"Hoya", "-12": if the file starts with a row, insert the line ${line} before it`,
  ],
  ['Hoya,12x\n', `${needed}"Hoya", "12x": ${rename}`],
  ['{"id":1,"name":"x"}\n', /but it has .*: for NDJSON, read it as NDJSON$/],
  [' { "id":1}\n', /: for NDJSON, read it as NDJSON$/],
  ['Hoya,x12\n', `${needed}"Hoya", "x12": ${rename}`],
  ['sep=;x\nid;name\n', `${needed}"sep=", "x": ${rename}`],
  ['x sep=;\nid;name\n', `${needed}"x sep=", "": ${rename}`],
  ['x{"id":1}\n', /: rename the columns, or name the delimiter$/],
  [`"${'x'.repeat(300)}\n`, `${needed}${JSON.stringify(`"${'x'.repeat(199)}`)}: ${rename}`],
  ['id,name,ID\n', 'the CSV header has the column "id" twice: rename or remove one'],
])('rejects a file that starts with %j', async (content, message) => {
  await expect(readRows(content, 'csv')).rejects.toMatchObject({
    name: 'FileError',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});

it('rejects a header that is not UTF-8', async () => {
  const latin1 = Buffer.from('id,name,größe\n', 'latin1');
  await expect(readRows(latin1, 'csv')).rejects.toThrow(
    'the CSV header is not UTF-8: if the file is Latin-1 or Windows-1252, read it as Latin-1',
  );
});

it('uses only the given delimiter', async () => {
  expect((await readRows('id:name\n1:x\n', 'csv', { delimiter: ':' })).rows).toEqual([row(2)]);
  await expect(readRows('id,name\n1,x\n', 'csv', { delimiter: ':' })).rejects.toThrow('"id,name"');
});

import { describe, expect, it } from 'vitest';
import { columnNames } from '../src/index.ts';
import { read } from './read.ts';

describe('readRows of a CSV file', () => {
  it.each([',', ';', '\t', '|'])('accepts the delimiter %j', async (delimiter) => {
    const file = ['id,name,tag', '1,Hoya,wax', '2,Ficus,'].join('\n').replaceAll(',', delimiter);
    const { plants, facts } = await read(file);
    expect(plants).toEqual([
      { id: 1n, name: 'Hoya', tag: 'wax' },
      { id: 2n, name: 'Ficus' },
    ]);
    expect(facts).toMatchObject({ format: 'csv', delimiter });
  });

  it.each(['\n', '\r\n', '\r'])('accepts the line end %j, even inside quotes', async (end) => {
    const { rows } = await read(`id,name${end}1,Hoya${end}2,"a${end}b"${end}`);
    expect(rows).toMatchObject([
      { line: 2, lastLine: 2, text: '1,Hoya', plant: { id: 1n, name: 'Hoya' } },
      { line: 3, lastLine: 4, text: `2,"a${end}b"`, plant: { id: 2n, name: `a${end}b` } },
    ]);
  });

  it('keeps LF in quotes when the line end is CR', async () => {
    const { plants } = await read('id,name\r1,"a\nb"\r');
    expect(plants).toEqual([{ id: 1n, name: 'a\nb' }]);
  });

  it('counts each line as a row, a header, a blank line or a continuation', async () => {
    const { facts } = await read('\n\nid,name,\n1,x,\n\n  \n2,"a\nb\nc",\n,,,\nnope');
    expect(facts).toMatchObject({ lines: 11, header: 1, rows: 3, blank: 5, continued: 2 });
  });

  it('reads "" as an empty text, and an empty field as a missing value', async () => {
    const { plants, errors } = await read('id,name,tag\n1,"",""\n2,x,\n3,,y\n');
    expect(plants).toEqual([
      { id: 1n, name: '', tag: '' },
      { id: 2n, name: 'x' },
    ]);
    expect(errors).toEqual(['4: name is missing: it must be a string']);
  });

  it.each([
    ['"Hoya ""Rosea"""', 'Hoya "Rosea"'],
    ['""""', '"'],
    ['"a,b"', 'a,b'],
    ['" x "', ' x '],
    [' x ', ' x '],
    ["'Gold Rush'", "'Gold Rush'"],
    ["'=SUM(A1)", '=SUM(A1)'],
    ['👩🏽‍🌾 Ḽ', '👩🏽‍🌾 Ḽ'],
  ])('reads the field %s as %j', async (field, name) => {
    const { plants } = await read(`name,id\n${field},1\n`);
    expect(plants).toEqual([{ id: 1n, name }]);
  });

  it.each([
    ['-9223372036854775808', -(2n ** 63n)],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['0', 0n],
  ])('reads the id %s exactly', async (text, id) => {
    expect((await read(`id,name\n${text},x\n`)).plants).toEqual([{ id, name: 'x' }]);
  });

  it.each([
    ['1.5,x', /^id must be a whole number: "1.5"$/],
    [
      '9223372036854775808,x',
      /^id must be from -\d+ to 9223372036854775807: "9223372036854775808"$/,
    ],
    ['007,x', /^id must be a whole number: "007"$/],
    ['1.23457E+18,x', /"1.23457E\+18" \(a spreadsheet rounded it/],
    ['1,a\0b', /^name must not contain U\+0000 or a lone surrogate$/],
    ['1.5,\0', /^id must be .*; name must not/],
    ['1', /^has fields: 1, but the header has 2$/],
    ['1,Hoya,wax', /^has fields: 3, but the header has 2$/],
    ['1,Hoya 5" pot', /^has a quote or a line break in a field: put/],
    ['1,a\rb', /^has a quote or a line break/],
    [`1,${'x'.repeat(2_000_000)}`, /^is longer than 1 MiB/],
    [`1,"${'x\n'.repeat(1_000_000)}"`, /^is longer than 1 MiB/],
    // As JSON, this row has twice as many bytes as characters.
    [`1,"${'\t\u00e9'.repeat(300_000)}"`, /^is longer than 1 MiB/],
  ])('rejects only a wrong row (%#)', async (text, error) => {
    const { rows, plants } = await read(`id,name\n1,before\n${text}\n3,after\n`);
    expect(rows[1]).toMatchObject({ line: 3, text, error: expect.stringMatching(error) });
    expect(plants.map(({ name }) => name)).toEqual(['before', 'after']);
  });

  it.each([
    ['2,"Ficus', 'never'],
    ['2,"Ficus\n3,"Calla"', 'in a later row'],
    ['2,"Ficus" x', 'before the end of its field'],
    [`2,"${'x\n'.repeat(9_000_000)}`, 'not within 16 MiB'],
  ])('stops at a row whose quotes do not match (%#)', async (text) => {
    const { plants, error } = await read(`id,name\n1,Hoya\n${text}`);
    expect(plants).toEqual([{ id: 1n, name: 'Hoya' }]);
    expect(error?.message).toMatch(/^line 3 begins a row whose quotes do not match: close/);
  });

  it('stops at a line of more than 16 MiB', async () => {
    const { error } = await read(`id,name\n1,${'x'.repeat(2 ** 24)}`);
    expect(error?.message).toBe('line 2 is longer than 16 MiB: check the line ends');
  });
});

describe('the header of a CSV file', () => {
  const headers = columnNames.id.flatMap((id) => columnNames.tag.map((tag) => `${id},name,${tag}`));
  const others = [' Id , "Name" ,tag', 'id,name,tag,,'];

  it.each([...headers, ...headers.map((header) => header.toUpperCase()), ...others])(
    'may be %s',
    async (header) => {
      const { plants } = await read(`\n${header}\n1,Hoya,wax,,\n`);
      expect(plants).toEqual([{ id: 1n, name: 'Hoya', tag: 'wax' }]);
    },
  );

  it.each(['created_at', 'createdAt', 'updated_at', 'UpdatedAt'])(
    'may name %s, but readRows leaves out this column, with a note',
    async (column) => {
      const { plants, facts } = await read(`id,name,${column}\n1,Hoya,2026\n`);
      expect(plants).toEqual([{ id: 1n, name: 'Hoya' }]);
      expect([...facts.notes].join()).toMatch(/^"\w+" is left out: a file sets id, name and tag.$/);
    },
  );

  it.each([
    ['id;name;Preis', 'has the unknown column "Preis"'],
    ['1,Hoya,wax', 'has the unknown column "1"'],
    ['name,tag', 'has no column id'],
    ['id', 'has no column name'],
    ['id,name,nr', 'has two columns for id: id and nr'],
    ['id,,name', 'has the unknown column ""'],
  ])('may not be %s', async (header, reason) => {
    const { rows, error } = await read(`\n${header}\n1,Hoya,wax\n`);
    expect(error?.message).toContain(`line 2 ${reason}: `);
    expect(rows).toEqual([]);
  });

  it('begins the file of rejected rows', async () => {
    const { rows, facts } = await read('Nr;Name\r\n1;Hoya\r\n1,5;Müller\r\n');
    const rejected = rows.filter(({ error }) => error).map(({ text }) => `${text}\n`);
    expect(facts.rejectsStart + rejected.join('')).toBe('\ufeffNr;Name\n1,5;Müller\n');
  });
});

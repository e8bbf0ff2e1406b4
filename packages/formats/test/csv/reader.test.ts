import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readPlants } from '../../src/files/read-plants.ts';
import { readRows } from '../fixtures/read-rows.ts';

const hoya = { id: 1n, name: 'Hoya', tag: undefined };

describe('CSV records', () => {
  it.each([
    ['1,Hoya,Apocynaceae', { id: 1n, name: 'Hoya', tag: 'Apocynaceae' }],
    ['1,Hoya,', hoya],
    ['1,Hoya,""', { ...hoya, tag: '' }],
    ['1,"Hoya",', hoya],
    ['"1","",""', { id: 1n, name: '', tag: '' }],
    ['1,"a ""b"" c",', { ...hoya, name: 'a "b" c' }],
    ['1,"""",', { ...hoya, name: '"' }],
    ['1,"""""",', { ...hoya, name: '""' }],
    ['1,"a,b","c,d"', { id: 1n, name: 'a,b', tag: 'c,d' }],
    ['1,,x', { id: 1n, name: undefined, tag: 'x' }],
    [',Hoya,', { ...hoya, id: undefined }],
    ['1, Hoya ,', { ...hoya, name: ' Hoya ' }],
    ['1,Hoya,,,,', hoya],
    ['1,Hoya,\r', hoya],
    ['1,Hoya,"x"\r', { ...hoya, tag: 'x' }],
    ['1,Hoya,x\r', { ...hoya, tag: 'x' }],
    ['"1",Hoya,x\r', { ...hoya, tag: 'x' }],
    ['1,"Ho\r",x', { id: 1n, name: 'Ho\r', tag: 'x' }],
  ])('reads the plant of the record %j', async (record, plant) => {
    const { rows, counts } = await readRows(`id,name,tag\n${record}\n2,Ficus,x\n`, 'csv');
    expect(rows).toEqual([
      { line: 2, plant },
      { line: 3, plant: { id: 2n, name: 'Ficus', tag: 'x' } },
    ]);
    expect(counts).toEqual({ lines: 3, header: 1, blank: 0, continued: 0 });
  });

  it.each([
    ['1,Ho"ya,', 'has a quote inside an unquoted field'],
    ['1,Ho"ya"', 'has a quote inside an unquoted field'],
    ['1,"Hoya"x,', 'has text after the closing quote of a field'],
    ['1,"Hoya" ,', 'has text after the closing quote of a field'],
    ['1,Hoya', 'has 2 fields, but the header has 3'],
    ['1', 'has 1 field, but the header has 3'],
    ['1,Hoya,x,y', 'has 4 fields, but the header has 3'],
    ['1,Hoya,x,,y', 'has 5 fields, but the header has 3'],
    ['1,Hoya,x,""', 'has 4 fields, but the header has 3'],
    ['one,Hoya,', 'invalid input: id "one" must be a whole number'],
    [
      `${'9'.repeat(50)},Hoya,`,
      `invalid input: id "${'9'.repeat(39)}… must be from -9223372036854775808 to 9223372036854775807`,
    ],
    [`${'x'.repeat(38)},Hoya,`, `invalid input: id "${'x'.repeat(38)}" must be a whole number`],
  ])('rejects the record %j, and reads the next record', async (record, error) => {
    const { rows } = await readRows(`id,name,tag\n${record}\n2,Ficus,x\n`, 'csv');
    expect(rows).toEqual([
      { line: 2, error },
      { line: 3, plant: { id: 2n, name: 'Ficus', tag: 'x' } },
    ]);
  });

  it.each(['', ' ', '\t', '""', ',,', ',,,,', '\r'])(
    'skips the blank record %j',
    async (record) => {
      const { rows, counts } = await readRows(`id,name,tag\n${record}\n1,Hoya,\n`, 'csv');
      expect(rows).toEqual([{ line: 3, plant: hoya }]);
      expect(counts).toEqual({ lines: 3, header: 1, blank: 1, continued: 0 });
    },
  );

  it('reads two empty fields as a row when one field has quotes', async () => {
    const { rows } = await readRows('id,name\n,""\n', 'csv');
    expect(rows).toEqual([{ line: 2, plant: { id: undefined, name: '', tag: undefined } }]);
  });

  it('reads a quoted field in the record after a misplaced quote', async () => {
    const { rows } = await readRows('id,name,tag\n1,Ho"ya,\n2,"Ficus",x\n', 'csv');
    expect(rows[1]).toEqual({ line: 3, plant: { id: 2n, name: 'Ficus', tag: 'x' } });
  });

  it('rejects a record that is not UTF-8, and reads the next record', async () => {
    const latin1 = Buffer.from('id,name\n1,größe\n2,Ficus\n', 'latin1');
    expect((await readRows(latin1, 'csv')).rows).toEqual([
      { line: 2, error: expect.stringContaining('is not UTF-8: if the file is Latin-1 or') },
      { line: 3, plant: { id: 2n, name: 'Ficus', tag: undefined } },
    ]);
  });

  it('rejects an unclosed quoted field, and the next line, which is not UTF-8', async () => {
    const latin1 = Buffer.from('id,name\n1,"one\ngröße\n2,Ficus\n', 'latin1');
    expect((await readRows(latin1, 'csv')).rows).toEqual([
      {
        line: 2,
        error:
          'is not UTF-8: if the file is Latin-1 or Windows-1252, read it as Latin-1 (lines 2 to 3 were read as one row because of a quote; the import goes on at line 3)',
      },
      { line: 3, error: expect.stringContaining('is not UTF-8') },
      { line: 4, plant: { id: 2n, name: 'Ficus', tag: undefined } },
    ]);
  });
});

describe('quoted fields of several lines', () => {
  it.each([
    ['LF', '\n', '\n'],
    ['CRLF', '\r\n', '\r\n'],
    ['CR', '\r', '\r'],
  ])('keeps the line ends in a quoted field (%s)', async (_, lineEnd, kept) => {
    const content = ['id,name', '1,"one', '', 'two"', '2,Ficus', ''].join(lineEnd);
    const { rows, counts, warnings } = await readRows(content, 'csv');
    expect(rows).toEqual([
      { line: 2, lastLine: 4, plant: { ...hoya, name: `one${kept}${kept}two` } },
      { line: 5, plant: { id: 2n, name: 'Ficus', tag: undefined } },
    ]);
    expect(counts).toEqual({ lines: 5, header: 1, blank: 0, continued: 2 });
    expect(warnings).toEqual([]);
  });

  it('reads a quoted field of several lines in chunks of any size', async () => {
    const content = 'id,name\n1,"one\ntwo ""x"", \nthree"\n2,"a\nb"\n';
    const whole = await readRows(content, 'csv');
    for (let chunkSize = 1; chunkSize < content.length; chunkSize++) {
      expect(await readRows(content, 'csv', { chunkSize })).toEqual(whole);
    }
  });

  it('reads a quoted field of several lines after another quoted field', async () => {
    const { rows } = await readRows('id,name,tag\n1,"a\nb","c\nd"\n', 'csv');
    expect(rows).toEqual([{ line: 2, lastLine: 4, plant: { id: 1n, name: 'a\nb', tag: 'c\nd' } }]);
  });

  it('rejects only the first line of a field without a closing quote, and reads the other lines as rows', async () => {
    const { rows, counts, warnings } = await readRows('id,name\n1,"one\n2,two\n3,three\n', 'csv');
    expect(rows).toEqual([
      {
        line: 2,
        error:
          'has a quoted field without a closing quote (lines 2 to 4 were read as one row because of a quote; the import goes on at line 3)',
      },
      { line: 3, plant: { id: 2n, name: 'two', tag: undefined } },
      { line: 4, plant: { id: 3n, name: 'three', tag: undefined } },
    ]);
    expect(counts).toEqual({ lines: 4, header: 1, blank: 0, continued: 0 });
    expect(warnings).toEqual([]);
  });

  it.each([
    ['the next quoted field', '4,"four"', 'has text after the closing quote of a field'],
    ['a record of another length', '4,four"x', 'has text after the closing quote of a field'],
    ['the end of a record', 'four"', 'has 2 fields, but the header has 3'],
  ])('rejects only the first line of a field that reaches to %s', async (_, last, error) => {
    const { rows } = await readRows(`id,name,tag\n1,"one,x\n2,two,y\n3,three,z\n${last}\n`, 'csv');
    expect(rows).toMatchObject([
      { line: 2, error: expect.stringContaining(error) },
      { line: 3, plant: { id: 2n } },
      { line: 4, plant: { id: 3n } },
      { line: 5, error: expect.any(String) },
    ]);
    expect(rows[0]).toMatchObject({
      error: expect.stringContaining('lines 2 to 5 were read as one row because of a quote'),
    });
  });

  it('rejects only the last line when the last line has an unclosed quote', async () => {
    const { rows } = await readRows('id,name\n1,one\n2,"two', 'csv');
    expect(rows).toEqual([
      { line: 2, plant: { ...hoya, name: 'one' } },
      { line: 3, error: 'has a quoted field without a closing quote' },
    ]);
  });

  it('warns of a quoted field in which a line looks like a row', async () => {
    const { warnings } = await readRows(
      'id,name\n7,x\n1,"one\ntext\n-21,two\n3,three"\n4,"a\nb,2\n5,c,d\nd"\n',
      'csv',
    );
    expect(warnings).toEqual([
      'lines 3 to 6 are one row, but line 5 in it looks like a row: check the quotes',
    ]);
  });

  it('does not warn when only the first or the last line of a quoted field looks like a row', async () => {
    const { warnings } = await readRows('name,id\n"x\nb,2",1\n"5,6\nb",3\n', 'csv');
    expect(warnings).toEqual([]);
  });

  it('does not warn of a quoted field in which no line begins with an id', async () => {
    const { warnings } = await readRows('id,name\n1,"a\nx2,b\n2x,b\nc"\n', 'csv');
    expect(warnings).toEqual([]);
  });

  it('counts the lines of a quoted field after other rows', async () => {
    const { counts } = await readRows('id,name\n7,x\n8,y\n1,"a\nb"\n', 'csv');
    expect(counts).toEqual({ lines: 5, header: 1, blank: 0, continued: 1 });
  });

  it('warns of at most ten quoted fields in a file', async () => {
    const record = '1,"one\n2,two\nthree"\n';
    expect((await readRows(`id,name\n${record.repeat(10)}`, 'csv')).warnings).toHaveLength(10);
    expect((await readRows(`id,name\n${record.repeat(11)}`, 'csv')).warnings).toHaveLength(10);
  });
});

describe('the rejects file of CSV', () => {
  it('contains the line number and the reason before the unchanged row', async () => {
    const content = 'ID; Name;note\r\n1;"a ""b""\r\nc";\r\n2;x;"y"\r\n';
    const { rejects } = await readRows(content, 'csv');
    expect(rejects).toBe(
      'line;reason;ID; Name;note\n2;"it is ""wrong""";1;"a ""b""\r\nc";\n4;"it is ""wrong""";2;x;"y"\n',
    );
    const again = await readRows(rejects, 'csv');
    expect(again.rejects).toBe(rejects);
    expect(again.warnings).toEqual(['these columns are not used: "note"']);
  });

  it.each([
    [',', ''],
    [';', ''],
    ['\t', ''],
    ['|', ''],
    ['^', 'sep=^\n'],
    ['.', 'sep=.\n'],
  ])(
    'names the delimiter %j when the header does not show this delimiter',
    async (delimiter, first) => {
      const content = ['id', 'name'].join(delimiter);
      const row = ['1', 'x'].join(delimiter);
      const { rejects } = await readRows(`${content}\n${row}\n`, 'csv', { delimiter });
      const lines = [
        ['line', 'reason', 'id', 'name'],
        ['2', '"it is ""wrong"""', '1', 'x'],
      ];
      expect(rejects).toBe(
        `${first}${lines.map((fields) => `${fields.join(delimiter)}\n`).join('')}`,
      );
      const again = await readRows(rejects, 'csv', { delimiter });
      expect(again.rows).toMatchObject([{ plant: { id: 1n, name: 'x' } }]);
    },
  );

  it('replaces bytes that are not UTF-8 by U+FFFD', async () => {
    const latin1 = Buffer.from('id,name\n1,ö\n', 'latin1');
    expect((await readRows(latin1, 'csv')).rejects).toContain('"it is ""wrong""",1,\ufffd\n');
  });

  it('replaces the line numbers and the reasons of an imported rejects file', async () => {
    const content = 'line,reason,id,name\n7,"a, ""b"" \nc",1,x\nplain,text,2,"line,reason,3,y"\n';
    expect((await readRows(content, 'csv')).rejects).toBe(
      'line,reason,id,name\n2,"it is ""wrong""",1,x\n4,"it is ""wrong""",2,"line,reason,3,y"\n',
    );
  });
});

it('rejects a file without a header', async () => {
  const empty = 'the file is empty: a CSV file starts with the line id,name,tag';
  await expect(readRows('', 'csv')).rejects.toThrow(empty);
  await expect(readRows('sep=;\n\n', 'csv')).rejects.toThrow(empty);
  // The promise of `readPlants` must reject. The command line then says that the file is unreadable.
  const blank = Readable.from([Buffer.from('\n ;;\n')]);
  await expect(readPlants(blank, 'csv')).rejects.toThrow(empty);
});

/** Checks that rooms.config.js lists every package and every room. A room is a source folder. */
import { existsSync, globSync } from 'node:fs';
import { dirname } from 'node:path';
import { packages } from '../tools/rooms.config.js';

const errors = [...packageErrors(), ...Object.entries(packages).flatMap(roomErrors)];
for (const error of errors) console.error(error);
if (errors.length > 0) process.exitCode = 1;

function packageErrors() {
  const existing = globSync('{packages/*,apps/*,examples,examples/*}/package.json').map(dirname);
  const listed = Object.keys(packages);
  return [
    ...existing
      .filter((name) => !listed.includes(name))
      .map((name) => `rooms.config.js does not list the package ${name}`),
    ...listed
      .filter((name) => !existing.includes(name))
      .map((name) => `rooms.config.js lists ${name}, which is not a package`),
  ];
}

function roomErrors([name, { rooms = [] }]) {
  const files = globSync('**/*.*', { cwd: `${name}/src` });
  const folders = new Set(files.map(dirname).filter((folder) => folder !== '.'));
  const listed = rooms.flatMap(Object.keys);
  const unlisted = [...folders].filter((folder) => !listed.includes(folder));
  return [
    ...unlisted.map((folder) => `rooms.config.js does not list the room ${name}/src/${folder}`),
    ...listed
      .map((room) => `${name}/src/${room}`)
      .filter((path) => !existsSync(path))
      .map((path) => `rooms.config.js lists ${path}, which does not exist`),
  ];
}

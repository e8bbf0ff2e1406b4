// A program that creates a database in the directory of its argument. It is a process, because PGlite needs some
// 300 MB of memory to create a database, and a thread would not give all of it back.
try {
  const { PGlite } = await import('@electric-sql/pglite');
  await (await PGlite.create(process.argv[2] ?? '')).close();
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

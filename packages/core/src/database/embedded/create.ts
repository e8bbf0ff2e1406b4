// A program that creates a database in the directory of its argument. PGlite needs much memory for this, and only
// the end of a process gives all of it back.
try {
  const { PGlite } = await import('@electric-sql/pglite');
  await (await PGlite.create(process.argv[2] ?? '')).close();
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

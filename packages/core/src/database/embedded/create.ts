// This program creates a database in the directory that its argument names. PGlite needs much memory to
// create a database, and returns all of this memory only when the process ends.
try {
  const { PGlite } = await import('@electric-sql/pglite');
  await (await PGlite.create(process.argv[2] ?? '')).close();
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

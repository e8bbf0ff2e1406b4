/** What the benchmark tells each contender. */
export const {
  DATABASE_URL: databaseUrl = '',
  PLANT_STORE_TOKEN: token = '',
  PORT = '0',
} = process.env;

export const address = { host: '127.0.0.1', port: Number(PORT) };

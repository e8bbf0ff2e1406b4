/** The settings that the benchmark passes to each contender. */
export const {
  DATABASE_URL: databaseUrl = '',
  PLANT_STORE_TOKEN: accessToken = '',
  PORT = '0',
} = process.env;

export const address = { host: '127.0.0.1', port: Number(PORT) };

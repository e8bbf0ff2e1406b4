import { expect, it } from 'vitest';
import { openPage, tableOf } from '../fixtures/open-page.ts';
import { address, client, freshId, freshTag } from '../fixtures/shared-server.ts';

it('shows the tools in one row on a phone, and closes a sheet when the user goes back', async () => {
  const [id, tag] = [freshId(), freshTag()];
  await client.createPlant.mutate({ id, name: 'Hoya carnosa', tag });
  const page = await openPage(address(), { width: 375, height: 667 });
  await page.getByText('This token may').waitFor();
  await page.evaluate((hash) => location.assign(hash), `#${new URLSearchParams({ tag })}`);
  await tableOf(page).getByText('Hoya carnosa').waitFor();

  const boxes = await Promise.all(
    ['Export', 'Add files', 'Add a plant'].map((name) =>
      page.getByRole('button', { name }).boundingBox(),
    ),
  );
  boxes.push(await page.getByRole('searchbox').boundingBox());
  const middles = boxes.map((box) => box && Math.round(box.y + box.height / 2));
  expect(new Set(middles).size).toBe(1);
  expect(Math.max(...boxes.map((box) => box?.height ?? 0))).toBeLessThanOrEqual(44);

  await page.getByRole('button', { name: 'Add a plant' }).click();
  await page.getByRole('dialog', { name: 'Add a plant' }).waitFor();
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await tableOf(page).getByText('Hoya carnosa').waitFor();

  // A notice covers no button, and disappears after some time.
  await tableOf(page).getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Add a plant' }).click();
  await page.clock.install();
  await page.getByLabel('Name').fill('Hoya kerrii');
  await page.getByRole('button', { name: 'Add plant' }).click();
  const notice = page.getByText('Added “Hoya kerrii”');
  await notice.waitFor();
  await page.mouse.move(0, 0);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.clock.fastForward(11_000);
  await notice.waitFor({ state: 'detached' });
});

import { expect, it } from 'vitest';
import { openPage, tableOf } from '../fixtures/open-page.ts';
import { address, client, freshId } from '../fixtures/shared-server.ts';

it('lets the user add, find, open and delete a plant with only the keyboard', async () => {
  const id = freshId();
  const page = await openPage(address());
  await page.getByText('This token may').waitFor();
  const press = page.keyboard.press.bind(page.keyboard);
  const type = page.keyboard.insertText.bind(page.keyboard);
  const tabTo = async (name: string) => {
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: element } = document;
        const label = element?.id && document.querySelector(`label[for="${element.id}"]`);
        const text = (label || element)?.textContent;
        return element?.getAttribute('aria-label') ?? text ?? '';
      });
    for (let presses = 0; (await focused()) !== name; presses++) {
      expect(presses, `Tab reaches ${name}`).toBeLessThan(20);
      await press('Tab');
    }
  };

  await tabTo('Add a plant');
  await press('Enter');
  await tabTo('Name');
  await type('By keyboard');
  await tabTo('Id');
  await press('Control+a');
  await type(String(id));
  await press('Enter');
  await page.getByText('Added “By keyboard”').waitFor();

  await tabTo('Find plants');
  await type(String(id));
  await press('Enter');
  await tableOf(page).getByText('By keyboard').waitFor();
  await tabTo('Plants');
  await press('Enter');
  await page.getByRole('dialog', { name: 'By keyboard' }).waitFor();
  await tabTo('Delete …');
  await press('Enter');
  await page.getByRole('alertdialog').waitFor();
  await tabTo('Delete');
  await press('Enter');
  await page.getByText(`Deleted the plant ${id}`).waitFor();
  await expect(client.getPlant.query({ id })).rejects.toThrow('no plant has the id');
});

import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { useCallback, useState } from 'react';
import { closeSheet, go, useAddress } from '../address/use-address.ts';
import { Question } from '../controls/question.tsx';
import type { Imports } from '../import/imports.ts';
import { FileDrop } from '../import/views/file-drop.tsx';
import { ImportChip } from '../import/views/import-chip.tsx';
import { useRefreshAfterImports } from '../import/views/use-refresh-after-imports.ts';
import { draftOf, forgetDraft, hasDraft, keepDraft } from '../plants/add/draft.ts';
import { countOf } from '../plants/count-of.ts';
import type { RequestHistory } from '../requests/request-history.ts';
import { useScopes } from '../token/allowed-scopes.ts';
import './console.css';
import { Header } from './header.tsx';
import { Notice, type NoticeText } from './notice.tsx';
import { PlantsView } from './plants-view.tsx';
import { SideView } from './side-view.tsx';
import { StatusBar } from './status-bar.tsx';
import { WithoutReading } from './without-reading.tsx';

interface ConsoleProps {
  history: RequestHistory;
  imports: Imports;
  onForgetToken(): void;
}

/** Everything that somebody with a token sees. */
export function Console({ history, imports, onForgetToken }: ConsoleProps) {
  const scopes = useScopes();
  const { sheet } = useAddress();
  const [notice, setNotice] = useState<NoticeText>();
  const [isLeaving, setIsLeaving] = useState(false);
  useRefreshAfterImports(imports);

  const mayRead = scopes?.has('plants:read') ?? true;
  const mayCreate = scopes?.has('plants:create') ?? false;
  const mayDelete = scopes?.has('plants:delete') ?? false;

  const showPlant = (plant: bigint) => {
    setNotice(undefined);
    go({ plant, sheet: undefined });
  };
  const onAdded = ({ id, name }: NewPlant) => {
    if (sheet === 'add') closeSheet();
    const action = { label: 'Show', run: () => showPlant(id) };
    setNotice({ text: `Added “${name}”`, ...(mayRead && { action }) });
  };
  const onDeleted = (id: bigint) => {
    closeSheet();
    setNotice({ text: `Deleted the plant ${id}` });
  };
  const onDuplicate = (plant: StoredPlant) => {
    keepDraft(draftOf(plant));
    go({ plant: undefined, sheet: 'add' });
  };
  const onLeave = () => (sheet === 'add' && hasDraft() ? setIsLeaving(true) : closeSheet());
  const discard = () => {
    forgetDraft();
    setIsLeaving(false);
    closeSheet();
  };
  const onFiles = useCallback(
    (files: readonly File[]) => {
      go({ plant: undefined, sheet: 'import' });
      imports.choose(files);
    },
    [imports],
  );
  return (
    <div className="console">
      <Header onForgetToken={onForgetToken}>
        <ImportChip imports={imports} onOpen={() => go({ sheet: 'import' })} />
      </Header>
      <main className="console-main">
        {mayRead ? (
          <PlantsView
            mayCreate={mayCreate}
            mayDelete={mayDelete}
            onOpen={({ id }) => showPlant(id)}
            onDeleted={(count) => setNotice({ text: `Deleted ${countOf(count)}` })}
          />
        ) : (
          <WithoutReading
            mayCreate={mayCreate}
            mayDelete={mayDelete}
            onAdded={onAdded}
            onAddFile={() => go({ sheet: 'import' })}
          />
        )}
      </main>
      <StatusBar scopes={scopes} />
      <Notice notice={notice} onClose={() => setNotice(undefined)} />
      {mayCreate && <FileDrop onFiles={onFiles} />}
      <SideView
        may={{ read: mayRead, create: mayCreate, delete: mayDelete }}
        history={history}
        imports={imports}
        onAdded={onAdded}
        onDeleted={onDeleted}
        onDuplicate={onDuplicate}
        onLeave={onLeave}
      />
      <Question
        title="Discard what you typed?"
        text="The plant is not added yet."
        confirm="Discard"
        isOpen={isLeaving}
        onConfirm={discard}
        onCancel={() => setIsLeaving(false)}
      />
    </div>
  );
}

import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import {
  type Address,
  closeSheet,
  openPlant,
  openSheet,
  sheetTitles,
  useAddress,
} from '../address/address.ts';
import { useChanges } from '../changes/follow-changes.ts';
import { Question } from '../controls/question.tsx';
import type { Imports } from '../import/imports.ts';
import { FileDrop } from '../import/views/file-drop.tsx';
import { ImportChip } from '../import/views/import-chip.tsx';
import { draftOf, forgetDraft, hasDraft, keepDraft } from '../plants/add/draft.ts';
import { ExportChip } from '../plants/export/export-plants.tsx';
import { useExport } from '../plants/export/use-export.ts';
import { PlantText } from '../plants/plant-text.tsx';
import type { RequestHistory } from '../requests/request-history.ts';
import { useScopes } from '../token/allowed-scopes.ts';
import { loadLater } from './load-later.ts';
import './console.css';
import { ForgetTokenQuestion } from './forget-token-question.tsx';
import { Header } from './header.tsx';
import { Notice, type NoticeText } from './notice.tsx';
import { PlantsView } from './plants-view.tsx';
import { StatusBar } from './status-bar.tsx';
import { useUndo } from './use-undo.tsx';

const SideView = lazy(() => loadLater().then(({ SideView }) => ({ default: SideView })));
const NoReadAccess = lazy(() => loadLater().then((later) => ({ default: later.NoReadAccess })));

interface ConsoleProps {
  history: RequestHistory;
  imports: Imports;
  onForgetToken(): void;
}

/** Shows the console to a user with a token. */
export function Console({ history, imports, onForgetToken }: ConsoleProps) {
  const { identity, scopes, may } = useScopes();
  const address = useAddress();
  const { sheet, plant } = address;
  const [hasList, setHasList] = useState(false);
  const [notice, setNotice] = useState<NoticeText>();
  const [question, setQuestion] = useState<'forget token' | 'discard'>();
  const currentExport = useExport();
  const onListed = useCallback(() => setHasList(true), []);
  const closeNotice = useCallback(() => setNotice(undefined), []);
  const onDeleted = useUndo(may.create, setNotice);
  useTitle(address);
  useChanges(scopes !== undefined && may.read);

  const onAdded = ({ id, name }: NewPlant) => {
    if (sheet === 'add') closeSheet();
    const another = { label: 'Add another', run: () => openSheet('add') };
    const showPlant = () => {
      closeNotice();
      openPlant(id);
    };
    const show = { label: 'Show', run: showPlant };
    const text = (
      <>
        Added “<PlantText text={name} />”
      </>
    );
    setNotice({ text, actions: may.read ? [show, another] : [] });
  };
  const onDuplicate = (plant: StoredPlant) => {
    keepDraft(draftOf(plant));
    openSheet('add');
  };
  const onLeave = () => (sheet === 'add' && hasDraft() ? setQuestion('discard') : closeSheet());
  const discard = () => {
    forgetDraft();
    setQuestion(undefined);
    closeSheet();
  };
  const onFiles = useCallback(
    (files: readonly File[]) => {
      openSheet('import');
      imports.choose(files);
    },
    [imports],
  );
  return (
    <div className="console">
      <Header mayManageTokens={may.manage} onForgetToken={() => setQuestion('forget token')}>
        <ExportChip current={currentExport} onOpen={() => openSheet('export')} />
        <ImportChip imports={imports} onOpen={() => openSheet('import')} />
      </Header>
      <div className="console-body">
        <main className="console-main">
          {may.read && (
            <PlantsView
              may={may}
              onOpen={({ id }) => openPlant(id)}
              onIdUnknown={(id) => setNotice({ text: `The list has no plant with the id ${id}` })}
              onDeleted={onDeleted}
              onListed={onListed}
            />
          )}
          {!may.read && (
            <Suspense>
              <NoReadAccess may={may} onAdded={onAdded} onAddFile={() => openSheet('import')} />
            </Suspense>
          )}
        </main>
        <Suspense>
          {(hasList || sheet || plant !== undefined) && (
            <SideView
              may={may}
              identity={identity}
              history={history}
              imports={imports}
              currentExport={currentExport}
              onAdded={onAdded}
              onDeleted={(plant) => {
                closeSheet();
                onDeleted([plant]);
              }}
              onDuplicate={onDuplicate}
              onLeave={onLeave}
            />
          )}
        </Suspense>
      </div>
      <Notice notice={notice} onClose={closeNotice} />
      <StatusBar scopes={scopes} />
      {may.create && <FileDrop onFiles={onFiles} />}
      {question === 'forget token' && (
        <ForgetTokenQuestion
          imports={imports}
          isExporting={currentExport.isRunning}
          onConfirm={onForgetToken}
          onCancel={() => setQuestion(undefined)}
        />
      )}
      {question === 'discard' && (
        <Question
          title="Discard what you typed?"
          text="The plant is not added yet."
          confirm="Discard"
          onConfirm={discard}
          onCancel={() => setQuestion(undefined)}
        />
      )}
    </div>
  );
}

/** Sets the title of the browser tab to the name of the open view. */
function useTitle({ tag, search, plant, sheet }: Address): void {
  const parts = [
    sheet && sheetTitles[sheet],
    plant !== undefined && `Plant ${plant}`,
    search !== undefined && `“${search}”`,
    tag !== undefined && `Tag ${tag}`,
    'Plant Store',
  ];
  const title = parts.filter(Boolean).join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}

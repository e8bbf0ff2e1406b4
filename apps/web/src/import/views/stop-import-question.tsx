import { Question } from '../../controls/question.tsx';
import { isActive } from '../file-import.ts';
import { type Imports, useImports } from '../imports.ts';

interface StopImportQuestionProps {
  imports: Imports;
  isOpen: boolean;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks before the token is forgotten with which plants are added. */
export function StopImportQuestion({ imports, isOpen, ...rest }: StopImportQuestionProps) {
  const names = useImports(imports)
    .filter(isActive)
    .map(({ file }) => file.name);
  return (
    <Question
      title="Stop the import?"
      text={`Without the token, the import of ${names.join(' and ')} stops. Plants that are added stay.`}
      confirm="Stop and forget the token"
      isOpen={isOpen}
      {...rest}
    />
  );
}

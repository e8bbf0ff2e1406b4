// The list of plants does not need these parts, so the browser loads this script after the list.
export { DeleteQuestion } from '../plants/delete-question.tsx';
export { AddPlant } from '../plants/one/add-plant.tsx';
export { OnePlant } from '../plants/one/one-plant.tsx';
export { Account, SignInAgain } from '../session/sign-in.tsx';
export { Tokens } from '../tokens/tokens.tsx';

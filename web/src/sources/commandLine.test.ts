import { expect, it } from "vitest";
import { commandLine } from "./commandLine";

it("quotes what a shell would take apart, and leaves out empty options", () => {
  expect(commandLine("answerable", "sources", "add", "my file's.yaml", ["--name", "crm"], ["--secret-env", ""])).toBe(
    "answerable sources add 'my file'\\''s.yaml' --name crm",
  );
  expect(commandLine("echo", "$(rm -rf ~)")).toBe("echo '$(rm -rf ~)'");
});

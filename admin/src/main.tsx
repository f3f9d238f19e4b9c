import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { takeMailedToken } from "./app/mailedToken";
import { wearLast } from "./app/theme";
import "./base.css";

takeMailedToken();
wearLast();
createRoot(document.getElementById("app")!).render(<StrictMode><App /></StrictMode>);

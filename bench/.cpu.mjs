import { startOurs, startFloor } from '/work/main/bench/servers.ts';
import { callingSocket, newBlock, newSession } from '/work/main/bench/sessions.ts';
import { httpClient } from '/work/main/bench/clients.ts';
import fs from 'fs';
const cpu=pid=>{const f=fs.readFileSync(`/proc/${pid}/stat`,'utf8').split(') ')[1].split(' ');return (Number(f[11])+Number(f[12]))*10};
const ours=await startOurs(), floor=await startFloor();
async function measure(name,s,mk,n,conc){const f=await mk(s);const go=async(k)=>{let i=0;await Promise.all(Array.from({length:conc},async(_,c)=>{while(i<k){i++;await f(c)}}))};await go(n/4);const c0=cpu(s.pid),t0=performance.now();await go(n);const c=cpu(s.pid)-c0;console.log(name.padEnd(28),'cpu us/call',(c*1000/n).toFixed(1),'calls/s',(n/((performance.now()-t0)/1000)).toFixed(0))}
const isOurs=s=>s===ours;
const ws=(name,inp,conc)=>async s=>{const k=await Promise.all(Array.from({length:conc},()=>callingSocket(s,isOurs(s))));return c=>k[c].call(name,inp)};
const http=(name,inp,conc)=>async s=>{const k=Array.from({length:conc},()=>httpClient(s));const ss=await Promise.all(k.map(()=>isOurs(s)?newSession(s):undefined));return c=>k[c].send('POST','/execute',{...(ss[c]?{session_id:ss[c]}:{}),tool_uses:[newBlock(name,inp)]})};
const what=process.argv[2]||'all';
for(const s of [floor,ours]){const n=isOurs(s)?'ours ':'floor ';
 if('all ws'.includes(what)){await measure(n+'ws noop 16',s,ws('Noop',{},16),20000,16); await measure(n+'ws noop 1',s,ws('Noop',{},1),5000,1);}
 if('all http'.includes(what)){await measure(n+'http noop 64',s,http('Noop',{},64),20000,64);await measure(n+'http noop 1',s,http('Noop',{},1),5000,1);}
}
await ours.stop();await floor.stop();process.exit(0);

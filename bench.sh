for p in "./hello" "./ralph version" "./hello" "./ralph version"; do
 /usr/bin/env python3 - "$p" <<'P'
import sys,subprocess,resource,time
a=sys.argv[1].split()
n=40
r0=resource.getrusage(resource.RUSAGE_CHILDREN); t=time.time()
best=9
for i in range(n):
    s=time.time(); subprocess.run(a,stdout=subprocess.DEVNULL); best=min(best,time.time()-s)
r1=resource.getrusage(resource.RUSAGE_CHILDREN)
print(a, 'wall/run %.1f ms best %.1f'%((time.time()-t)/n*1000,best*1000),'user %.1f sys %.1f'%((r1.ru_utime-r0.ru_utime)/n*1000,(r1.ru_stime-r0.ru_stime)/n*1000), 'minflt', (r1.ru_minflt-r0.ru_minflt)/n)
P
done

import a_package_that_nobody_has

task = a_package_that_nobody_has.task
